import type { ApiProblem } from '../../client/request.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { Field, Input } from '../../parts/field.tsx';

const verification = `import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET);
const event = webhook.verify(rawBody, headers);`;

/** How a receiver uses the signing secret. */
export function Verifying() {
  return (
    <div className="flex flex-col gap-2">
      <p className="text-sm text-muted">
        Every request is signed by the Standard Webhooks specification, whose libraries verify it. Give them
        the body as it came, before anything parses it:
      </p>
      <CodeBlock title="Verifying in Node.js" code={verification} />
    </div>
  );
}

export interface OwnSecretProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly problem: ApiProblem | null;
}

export function OwnSecret({ value, onChange, problem }: OwnSecretProps) {
  return (
    <Field
      label="Secret of your own"
      isOptional
      problem={problem}
      param="secret"
      hint="whsec_ and 24 to 64 bytes in base64. Left empty, a secret is made for you."
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
