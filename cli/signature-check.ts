import { bytesOf, keyOf } from '../sdk/signature.ts';
import {
  invalidSecret,
  isSigned,
  mistakesIn,
  noVersion,
  signaturesIn,
  timestampProblem,
} from '../sdk/signature-diagnosis.ts';

/** A webhook request exactly as the receiver got it, and the endpoint secret. */
export interface ReceivedRequest {
  readonly secret: string;
  readonly id: string;
  readonly timestamp: string;
  readonly signature: string;
  readonly body: string;
}

interface Finding {
  readonly isProblem: boolean;
  /** `webhooks verify --json` prints this field. */
  readonly words: string;
}

export interface SignatureCheck {
  readonly isValid: boolean;
  readonly findings: readonly Finding[];
}

const toleranceSeconds = 300;

/** Verifies a signature and explains a mismatch. The findings list every problem, not only the first. */
export async function checkSignature(received: ReceivedRequest, nowMs: number): Promise<SignatureCheck> {
  const { secret, id, timestamp, signature } = received;
  const findings: Finding[] = [];
  const key = await keyOf(secret);
  if (!key) findings.push(problem(invalidSecret));
  else if (!secret.startsWith('whsec_'))
    findings.push(
      fine('The secret has no whsec_ prefix. This command accepts that; some libraries require the prefix.'),
    );
  const timeProblem = timestampProblem(timestamp, nowMs, toleranceSeconds);
  if (timeProblem !== undefined) findings.push(problem(`${timeProblem} Use --at to check an old request.`));
  const signatures = signaturesIn(signature);
  if (signature.trim() === '') findings.push(problem('There is no signature.'));
  else if (signatures.length === 0) findings.push(problem(noVersion));
  else if (key && /^\d+$/.test(timestamp)) {
    const request = { id, timestamp, signatures, body: bytesOf(received.body) ?? new Uint8Array() };
    if (await isSigned(request, [key]))
      findings.push(fine('The signature matches the secret, the id, the timestamp and the body.'));
    else
      findings.push(problem('No signature matches.'), ...(await mistakesIn(request, [secret])).map(problem));
  }
  return { isValid: findings.every(({ isProblem }) => !isProblem), findings };
}

function fine(message: string): Finding {
  return { isProblem: false, words: message };
}

function problem(message: string): Finding {
  return { isProblem: true, words: message };
}
