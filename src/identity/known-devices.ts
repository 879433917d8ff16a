import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Instant } from '../kernel/table.ts';
import { dayMs, daySeconds } from '../kernel/time.ts';

/** The account that a device is known to. The password hash is part of the signature: a new password ends all known devices. */
export interface DeviceOwner {
  readonly id: string;
  readonly passwordHash: string | null;
}

const validDays = 180;
/** Accounts that one browser remembers; a sixth replaces the oldest. */
const accountsMax = 5;
const idBytes = 12;
const entryPattern = /^([0-9a-z]{1,10})\.([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{43})$/;

interface Entry {
  readonly text: string;
  readonly issuedAt: Instant;
  readonly deviceId: string;
  readonly signature: string;
}

/**
 * Browsers that have signed in to an account before. They prove it with a signed cookie and get a separate sign-in budget, so
 * that guesses from elsewhere do not slow them down. The cookie alone does not sign in.
 */
export class KnownDevices {
  readonly #key: Buffer;
  readonly #cookieName: string;
  readonly #isTls: boolean;

  constructor(settings: { readonly secret: string; readonly isTls: boolean; readonly cookiePrefix: string }) {
    this.#key = Buffer.from(hkdfSync('sha256', settings.secret, 'sandbank', 'known devices v1', 32));
    this.#cookieName = `${settings.cookiePrefix}.device`;
    this.#isTls = settings.isTls;
  }

  /** The id of the device, if this account knows it. */
  find(cookies: string | undefined, owner: DeviceOwner, now: Instant): string | undefined {
    return this.#entries(cookies, now).find((entry) => this.#isOf(entry, owner))?.deviceId;
  }

  /** The cookie that makes the browser a known device. A device that is already known keeps its id, and so its budget. */
  remember(cookies: string | undefined, owner: DeviceOwner, now: Instant): string {
    const entries = this.#entries(cookies, now);
    const known = entries.find((entry) => this.#isOf(entry, owner));
    const deviceId = known?.deviceId ?? randomBytes(idBytes).toString('base64url');
    const issued = now.toString(36);
    const renewed = `${issued}.${deviceId}.${this.#sign(owner, issued, deviceId)}`;
    const others = entries.filter((entry) => entry !== known).map(({ text }) => text);
    const value = [renewed, ...others].slice(0, accountsMax).join('~');
    const secure = this.#isTls ? '; Secure' : '';
    return `${this.#cookieName}=${value}; Max-Age=${validDays * daySeconds}; Path=/; HttpOnly${secure}; SameSite=Strict`;
  }

  #entries(cookies: string | undefined, now: Instant): readonly Entry[] {
    const value = cookieOf(cookies, this.#cookieName) ?? '';
    return value
      .split('~', accountsMax)
      .map(readEntry)
      .filter((entry) => entry !== undefined)
      .filter(({ issuedAt }) => issuedAt <= now + dayMs && now < issuedAt + validDays * dayMs);
  }

  #isOf({ text, deviceId, signature }: Entry, owner: DeviceOwner): boolean {
    const [issued = ''] = text.split('.', 1);
    return timingSafeEqual(Buffer.from(signature), Buffer.from(this.#sign(owner, issued, deviceId)));
  }

  #sign({ id, passwordHash }: DeviceOwner, issued: string, deviceId: string): string {
    return createHmac('sha256', this.#key)
      .update(JSON.stringify([id, passwordHash, issued, deviceId]))
      .digest('base64url');
  }
}

function readEntry(text: string): Entry | undefined {
  const [, issued, deviceId, signature] = entryPattern.exec(text) ?? [];
  if (issued === undefined || deviceId === undefined || signature === undefined) return undefined;
  return { text, issuedAt: Number.parseInt(issued, 36), deviceId, signature };
}

export function cookieOf(cookies: string | undefined, name: string): string | undefined {
  for (const pair of cookies?.split(';') ?? []) {
    const at = pair.indexOf('=');
    if (at !== -1 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}
