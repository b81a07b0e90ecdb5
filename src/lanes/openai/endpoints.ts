import type { Endpoint } from '../contract.ts'
import { modelEntry, modelList } from '../endpoint-table.ts'
import { assistants } from './endpoints/assistants.ts'
import { calls } from './endpoints/calls.ts'
import { files } from './endpoints/files.ts'
import { generation } from './endpoints/generation.ts'
import { media } from './endpoints/media.ts'
import { refused } from './endpoints/refused.ts'
import { responses } from './endpoints/responses.ts'
import { sockets } from './endpoints/sockets.ts'
import { stores } from './endpoints/stores.ts'
import { training } from './endpoints/training.ts'

/** Source: wire/lanes.md, section 1.3. A row each, by family. */
export const endpoints: readonly Endpoint[] = [
  ...generation,
  ...responses,
  ...media,
  ...files,
  ...stores,
  ...training,
  ...assistants,
  ...sockets,
  ...calls,
  modelList('/models'),
  modelEntry('/models/{model}'),
  ...refused,
]
