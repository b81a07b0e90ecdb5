import type { Endpoint } from '../../contract.ts'
import { forgets, lists, makes, multipart, row, uses } from '../../endpoint-row.ts'

const skill = uses('skill')

/** Files and skills; a version belongs to its skill. Source: wire/lanes.md, section 2.3. */
export const files: readonly Endpoint[] = [
  row('files.create', 'POST /v1/files', { takes: multipart, object: makes('file') }),
  row('files.list', 'GET /v1/files', { object: lists('file') }),
  row('files.get', 'GET /v1/files/{object}', { object: uses('file') }),
  row('files.delete', 'DELETE /v1/files/{object}', { object: forgets('file') }),
  row('files.content', 'GET /v1/files/{object}/content', { gives: 'bytes', object: uses('file') }),

  row('skills.create', 'POST /v1/skills', { takes: multipart, object: makes('skill') }),
  row('skills.list', 'GET /v1/skills', { object: lists('skill') }),
  row('skills.get', 'GET /v1/skills/{object}', { object: skill }),
  row('skills.delete', 'DELETE /v1/skills/{object}', { object: forgets('skill') }),
  row('skills.versions.create', 'POST /v1/skills/{object}/versions', { takes: multipart, object: skill }),
  row('skills.versions.list', 'GET /v1/skills/{object}/versions', { object: skill }),
  row('skills.versions.get', 'GET /v1/skills/{object}/versions/{release}', { object: skill }),
  row('skills.versions.delete', 'DELETE /v1/skills/{object}/versions/{release}', { object: skill }),
  row('skills.versions.content', 'GET /v1/skills/{object}/versions/{release}/content', {
    gives: 'bytes',
    object: skill,
  }),
]
