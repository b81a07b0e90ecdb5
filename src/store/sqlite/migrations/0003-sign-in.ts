import { type Kysely, sql } from 'kysely'

/** Who may sign in to the console, with what, and who has. Tokens stand here as their SHA-256 only. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const run = async (text: string) => void (await sql.raw(text).execute(db))
  await run(`create table operators (
    id text primary key not null, name text not null unique, display_name text not null, state text not null,
    password_hash text, totp_sealed text, totp_step integer, oidc_issuer text, oidc_subject text,
    created_at text not null, last_sign_in_at text) strict`)
  await run(`create unique index operators_subject on operators (oidc_issuer, oidc_subject)
    where oidc_issuer is not null`)
  await run(`create table operator_roles (
    operator_id text not null references operators (id) on delete cascade,
    project_id text references projects (id) on delete cascade, role text not null) strict`)
  // Two nulls are never equal to a unique index, hence the empty text for the whole workspace.
  await run(`create unique index operator_roles_scope on operator_roles (operator_id, coalesce(project_id, ''))`)
  await run(`create table sessions (
    token_sha256 text primary key not null, id text not null unique,
    operator_id text not null references operators (id) on delete cascade,
    method text not null, created_at text not null, last_seen_at text not null, expires_at text not null,
    address text not null, user_agent text not null, revoked_at text) strict`)
  await run('create index sessions_operator on sessions (operator_id)')
  // Without an operator it is the link that makes the first owner.
  await run(`create table sign_in_links (
    token_sha256 text primary key not null, operator_id text references operators (id) on delete cascade,
    created_at text not null, expires_at text not null, used_at text) strict`)
  await run(`create table passkeys (
    id text primary key not null, operator_id text not null references operators (id) on delete cascade,
    credential_id text not null unique, public_key text not null, counter integer not null,
    transports_json text not null, name text not null, created_at text not null, last_used_at text) strict`)
  await run('create index passkeys_operator on passkeys (operator_id)')
}
