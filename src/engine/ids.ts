import { V7Generator } from 'uuidv7';
import { encodeSuffix } from '../kernel/ids.ts';

const generator = new V7Generator();

/** A fresh id suffix: a UUIDv7 in base32, always greater than the one before in this process. */
export function newSuffix(): string {
  return encodeSuffix(generator.generate().bytes);
}
