import { CodeBlock } from '../../parts/code-block.tsx';
import { Field, Input } from '../../parts/field.tsx';

const verification = `import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET);
const event = webhook.verify(rawBody, headers);`;

/** How a receiver uses the signing secret. */
export function VerificationExample() {
  return (
    <div className="flex flex-col gap-2">
      <p className="text-sm text-muted">
        Requests are signed according to the Standard Webhooks specification; its libraries verify them. Pass
        the raw body, before parsing:
      </p>
      <CodeBlock title="Verifying in Node.js" code={verification} />
    </div>
  );
}

/** A custom secret in code: a placeholder, because code is pasted into terminals and chats. */
export function shownSecret(secret: string): { readonly secret?: string } {
  return secret.trim() === '' ? {} : { secret: 'whsec_…' };
}

export interface CustomSecretFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export function CustomSecretField({ value, onChange }: CustomSecretFieldProps) {
  return (
    <Field
      label="Custom secret"
      isOptional
      param="secret"
      hint="whsec_ and 24 to 64 bytes in base64. Leave empty to generate one."
    >
      <Input
        isMono
        autoComplete="off"
        spellCheck={false}
        placeholder="whsec_…"
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    </Field>
  );
}
