import { type CreateTableBuilder, type Kysely, sql } from 'kysely'

/** Migrations see the schema of their own day, never today's types. */
type AnyDatabase = Kysely<unknown>

export async function up(db: AnyDatabase): Promise<void> {
  await createScopes(db)
  await createProviders(db)
  await createRoutes(db)
  await createPolicies(db)
  await createKeys(db)
  await createAudit(db)
  await createRecords(db)
}

async function create<Name extends string, Column extends string>(
  table: CreateTableBuilder<Name, Column>,
): Promise<void> {
  await table.modifyEnd(sql`strict`).execute()
}

async function createScopes(db: AnyDatabase): Promise<void> {
  await create(
    db.schema
      .createTable('workspace')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull()),
  )
  await sql`insert into workspace (id, name, created_at) values ('workspace', 'workspace', ${new Date().toISOString()})`.execute(
    db,
  )
  await create(
    db.schema
      .createTable('projects')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('name', 'text', (column) => column.notNull().unique())
      .addColumn('created_at', 'text', (column) => column.notNull()),
  )
  await create(
    db.schema
      .createTable('environments')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('project_id', 'text', (column) => column.notNull().references('projects.id'))
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addUniqueConstraint('environments_name', ['project_id', 'name']),
  )
  await create(
    db.schema
      .createTable('seal')
      .addColumn('name', 'text', (column) => column.primaryKey().notNull())
      .addColumn('sealed', 'text', (column) => column.notNull()),
  )
}

async function createProviders(db: AnyDatabase): Promise<void> {
  await create(
    db.schema
      .createTable('providers')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('name', 'text', (column) => column.notNull().unique())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('active', 'integer', (column) => column.notNull())
      .addColumn('limited', 'integer', (column) => column.notNull())
      .addColumn('tags_json', 'text', (column) => column.notNull())
      .addColumn('active_revision', 'integer', (column) => column.notNull())
      .addColumn('readiness_json', 'text', (column) => column.notNull())
      .addColumn('models_json', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull()),
  )
  await create(
    db.schema
      .createTable('provider_projects')
      .addColumn('provider_id', 'text', (column) => column.notNull().references('providers.id').onDelete('cascade'))
      .addColumn('project_id', 'text', (column) => column.notNull().references('projects.id').onDelete('cascade'))
      .addPrimaryKeyConstraint('provider_projects_key', ['provider_id', 'project_id']),
  )
  await create(
    db.schema
      .createTable('provider_revisions')
      .addColumn('provider_id', 'text', (column) => column.notNull().references('providers.id').onDelete('cascade'))
      .addColumn('number', 'integer', (column) => column.notNull())
      .addColumn('base_url', 'text', (column) => column.notNull())
      .addColumn('headers_json', 'text', (column) => column.notNull())
      .addColumn('timeouts_json', 'text', (column) => column.notNull())
      .addColumn('settings_json', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('created_by', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('provider_revisions_key', ['provider_id', 'number']),
  )
  await create(
    db.schema
      .createTable('provider_credentials')
      .addColumn('provider_id', 'text', (column) => column.notNull())
      .addColumn('revision', 'integer', (column) => column.notNull())
      .addColumn('position', 'integer', (column) => column.notNull())
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('sealed', 'text', (column) => column.notNull())
      .addColumn('last_four', 'text', (column) => column.notNull())
      .addColumn('added_at', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('provider_credentials_key', ['provider_id', 'revision', 'position'])
      .addForeignKeyConstraint(
        'provider_credentials_revision',
        ['provider_id', 'revision'],
        'provider_revisions',
        ['provider_id', 'number'],
        (constraint) => constraint.onDelete('cascade'),
      ),
  )
  await create(
    db.schema
      .createTable('environment_default_providers')
      .addColumn('environment_id', 'text', (column) =>
        column.notNull().references('environments.id').onDelete('cascade'),
      )
      .addColumn('lane', 'text', (column) => column.notNull())
      .addColumn('provider_id', 'text', (column) => column.notNull().references('providers.id'))
      .addPrimaryKeyConstraint('environment_default_providers_key', ['environment_id', 'lane']),
  )
}

async function createRoutes(db: AnyDatabase): Promise<void> {
  await create(
    db.schema
      .createTable('routes')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('project_id', 'text', (column) => column.notNull().references('projects.id'))
      .addColumn('environment_id', 'text', (column) => column.references('environments.id'))
      .addColumn('model', 'text', (column) => column.notNull())
      .addColumn('enabled', 'integer', (column) => column.notNull())
      .addColumn('strategy', 'text', (column) => column.notNull())
      .addColumn('retries', 'integer', (column) => column.notNull())
      .addColumn('fallback_on_json', 'text', (column) => column.notNull())
      .addColumn('timeouts_json', 'text', (column) => column.notNull())
      .addColumn('strict', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull()),
  )
  // Two nulls are never equal to a unique index, hence the empty text for "all environments".
  await sql`create unique index routes_model on routes (project_id, coalesce(environment_id, ''), model)`.execute(db)
  await create(
    db.schema
      .createTable('route_targets')
      .addColumn('route_id', 'text', (column) => column.notNull().references('routes.id').onDelete('cascade'))
      .addColumn('position', 'integer', (column) => column.notNull())
      .addColumn('provider_id', 'text', (column) => column.notNull().references('providers.id'))
      .addColumn('upstream_model', 'text')
      .addColumn('weight', 'real', (column) => column.notNull())
      .addColumn('priority', 'real', (column) => column.notNull())
      .addPrimaryKeyConstraint('route_targets_key', ['route_id', 'position']),
  )
  await db.schema.createIndex('route_targets_provider').on('route_targets').column('provider_id').execute()
}

async function createPolicies(db: AnyDatabase): Promise<void> {
  await create(
    db.schema
      .createTable('policies')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('name', 'text', (column) => column.notNull().unique())
      .addColumn('workspace', 'integer', (column) => column.notNull())
      .addColumn('rules_json', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull()),
  )
  await create(
    db.schema
      .createTable('policy_attachments')
      .addColumn('policy_id', 'text', (column) => column.notNull().references('policies.id').onDelete('cascade'))
      .addColumn('target_id', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('policy_attachments_key', ['policy_id', 'target_id']),
  )
}

async function createKeys(db: AnyDatabase): Promise<void> {
  await create(
    db.schema
      .createTable('keys')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('project_id', 'text', (column) => column.notNull().references('projects.id'))
      .addColumn('environment_id', 'text', (column) => column.notNull().references('environments.id'))
      .addColumn('policy_id', 'text', (column) => column.references('policies.id'))
      .addColumn('tags_json', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('created_by', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'text')
      .addColumn('revoked_at', 'text')
      .addColumn('last_used_at', 'text')
      .addColumn('version', 'integer', (column) => column.notNull()),
  )
  // A revoked key keeps its name for the records, and frees it for the next.
  await sql`create unique index keys_name on keys (environment_id, name) where revoked_at is null`.execute(db)
  await db.schema.createIndex('keys_project').on('keys').column('project_id').execute()
  await db.schema.createIndex('keys_version').on('keys').column('version').execute()
  await create(
    db.schema
      .createTable('key_secrets')
      .addColumn('key_id', 'text', (column) => column.notNull().references('keys.id').onDelete('cascade'))
      .addColumn('position', 'integer', (column) => column.notNull())
      .addColumn('hash', 'text', (column) => column.notNull().unique())
      .addColumn('last_four', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'text')
      .addPrimaryKeyConstraint('key_secrets_key', ['key_id', 'position']),
  )
  await db.schema.createIndex('key_secrets_last_four').on('key_secrets').column('last_four').execute()
  await create(
    db.schema
      .createTable('removed_key_hashes')
      .addColumn('hash', 'text', (column) => column.primaryKey().notNull())
      .addColumn('version', 'integer', (column) => column.notNull()),
  )
  await create(db.schema.createTable('key_version').addColumn('version', 'integer', (column) => column.notNull()))
  await sql`insert into key_version (version) values (0)`.execute(db)
}

async function createAudit(db: AnyDatabase): Promise<void> {
  await create(
    db.schema
      .createTable('audit')
      .addColumn('sequence', 'integer', (column) => column.primaryKey().autoIncrement().notNull())
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('time', 'text', (column) => column.notNull())
      .addColumn('actor', 'text', (column) => column.notNull())
      .addColumn('surface', 'text', (column) => column.notNull())
      .addColumn('operation', 'text', (column) => column.notNull())
      .addColumn('resource_kind', 'text', (column) => column.notNull())
      .addColumn('resource_id', 'text', (column) => column.notNull())
      .addColumn('resource_name', 'text', (column) => column.notNull())
      .addColumn('before_json', 'text', (column) => column.notNull())
      .addColumn('after_json', 'text', (column) => column.notNull())
      .addColumn('previous_hash', 'text', (column) => column.notNull())
      .addColumn('hash', 'text', (column) => column.notNull().unique()),
  )
  await db.schema.createIndex('audit_resource').on('audit').columns(['resource_id', 'sequence']).execute()
  await sql`create trigger audit_is_never_changed before update on audit
    begin select raise(abort, 'the audit trail is append-only'); end`.execute(db)
  await sql`create trigger audit_is_never_cut before delete on audit
    begin select raise(abort, 'the audit trail is append-only'); end`.execute(db)
}

async function createRecords(db: AnyDatabase): Promise<void> {
  await create(
    db.schema
      .createTable('records')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('boot', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('time', 'text', (column) => column.notNull())
      .addColumn('lane', 'text')
      .addColumn('project', 'text')
      .addColumn('environment', 'text')
      .addColumn('key_id', 'text')
      .addColumn('key_name', 'text')
      .addColumn('model', 'text')
      .addColumn('provider', 'text')
      .addColumn('status', 'integer')
      .addColumn('error_code', 'text')
      .addColumn('streamed', 'integer', (column) => column.notNull())
      .addColumn('input', 'integer')
      .addColumn('output', 'integer')
      .addColumn('cache_read', 'integer')
      .addColumn('cache_write', 'integer')
      .addColumn('reasoning', 'integer')
      .addColumn('usd', 'real')
      .addColumn('duration_ms', 'real')
      .addColumn('record_json', 'text', (column) => column.notNull()),
  )
  for (const column of ['key_id', 'model', 'provider']) {
    await db.schema.createIndex(`records_${column}`).on('records').columns([column, 'id']).execute()
  }
  await sql`create index records_error on records (error_code, id) where error_code is not null`.execute(db)
  await sql`create index records_admitted on records (id) where state = 'admitted'`.execute(db)
  await create(
    db.schema
      .createTable('repeated_records')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('count', 'integer', (column) => column.notNull())
      .addColumn('last_time', 'text', (column) => column.notNull()),
  )
  await create(
    db.schema
      .createTable('journal_segments')
      .addColumn('name', 'text', (column) => column.primaryKey().notNull())
      .addColumn('bytes_read', 'integer', (column) => column.notNull()),
  )
}
