-- Passkeys (WebAuthn), with which people sign in without a password. Better Auth writes the rows.
create table person_passkeys (
  id text collate "C" primary key,
  person_id text collate "C" not null references persons (id) on delete cascade,
  name text,
  public_key text not null,
  credential_id text collate "C" not null,
  -- An unsigned 32-bit number.
  counter double precision not null,
  device_type text not null,
  backed_up boolean not null,
  transports text,
  aaguid text,
  created_at timestamptz
);
create unique index person_passkeys_by_credential on person_passkeys (credential_id);
create index person_passkeys_by_person on person_passkeys (person_id);
