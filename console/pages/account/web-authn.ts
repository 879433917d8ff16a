import { ApiProblem } from '../../client/request.ts';

/** Browsers bind a passkey to a host name, so that an address such as 127.0.0.1 has none. */
export const hasPasskeys =
  typeof PublicKeyCredential !== 'undefined' &&
  'parseCreationOptionsFromJSON' in PublicKeyCredential &&
  !/^[\d.]+$|:/.test(location.hostname);

/** Asks the browser for a new passkey. */
export function createPasskey(options: unknown): Promise<unknown> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as PublicKeyCredentialCreationOptionsJSON,
  );
  return ceremony(() => navigator.credentials.create({ publicKey }));
}

/** Asks the browser to sign in with a passkey. */
export function getPasskey(options: unknown): Promise<unknown> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as PublicKeyCredentialRequestOptionsJSON,
  );
  return ceremony(() => navigator.credentials.get({ publicKey }));
}

async function ceremony(start: () => Promise<Credential | null>): Promise<unknown> {
  const credential = await start().catch(() => null);
  if (credential instanceof PublicKeyCredential) return credential.toJSON();
  const message = 'The browser did not use a passkey: it was canceled, or there is none for this site.';
  throw new ApiProblem({ status: 0, code: 'passkey_canceled', message });
}
