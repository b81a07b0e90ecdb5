import type { Migration } from 'kysely/migration'
import { up as foundation } from './0001-foundation.ts'
import { up as recordLabels } from './0002-record-labels.ts'
import { up as signIn } from './0003-sign-in.ts'
import { up as auditChainAndTokens } from './0004-audit-chain-and-tokens.ts'
import { up as firstByte } from './0005-first-byte.ts'
import { up as ownedFields } from './0006-owned-fields.ts'
import { up as bodies } from './0007-bodies.ts'
import { up as objects } from './0008-objects.ts'
import { up as projectNames } from './0009-project-names.ts'
import { up as batchUsage } from './0010-batch-usage.ts'
import { up as lateUsage } from './0011-late-usage.ts'
import { up as prices } from './0012-prices.ts'
import { up as attempts } from './0013-attempts.ts'
import { up as timeZone } from './0014-time-zone.ts'
import { up as routeOptions } from './0015-route-options.ts'
import { up as spend } from './0016-spend.ts'
import { up as alerts } from './0017-alerts.ts'
import { up as raisedHolds } from './0018-raised-holds.ts'
import { up as traces } from './0019-traces.ts'
import { up as accountLimits } from './0020-account-limits.ts'
import { up as cachedAnswers } from './0021-cached-answers.ts'
import { up as targetFormats } from './0022-target-formats.ts'
import { up as reasoning } from './0023-reasoning.ts'
import { up as recordSums } from './0024-record-sums.ts'
import { up as shadowLabels } from './0025-shadow-labels.ts'
import { up as replication } from './0026-replication.ts'
import { up as outbox } from './0027-outbox.ts'
import { up as sharedObjects } from './0028-shared-objects.ts'
import { up as tagSums } from './0029-tag-sums.ts'
import { up as evalInputs } from './0030-eval-inputs.ts'
import { up as sharedUsage } from './0031-shared-usage.ts'
import { up as sharedBodies } from './0032-shared-bodies.ts'
import { up as bodiesUntil } from './0033-bodies-until.ts'
import { up as removalClock } from './0034-removal-clock.ts'

/** In order. A released migration is never changed; a change of the schema is a new one. */
export const migrations: Record<string, Migration> = {
  '0001-foundation': { up: foundation },
  '0002-record-labels': { up: recordLabels },
  '0003-sign-in': { up: signIn },
  '0004-audit-chain-and-tokens': { up: auditChainAndTokens },
  '0005-first-byte': { up: firstByte },
  '0006-owned-fields': { up: ownedFields },
  '0007-bodies': { up: bodies },
  '0008-objects': { up: objects },
  '0009-project-names': { up: projectNames },
  '0010-batch-usage': { up: batchUsage },
  '0011-late-usage': { up: lateUsage },
  '0012-prices': { up: prices },
  '0013-attempts': { up: attempts },
  '0014-time-zone': { up: timeZone },
  '0015-route-options': { up: routeOptions },
  '0016-spend': { up: spend },
  '0017-alerts': { up: alerts },
  '0018-raised-holds': { up: raisedHolds },
  '0019-traces': { up: traces },
  '0020-account-limits': { up: accountLimits },
  '0021-cached-answers': { up: cachedAnswers },
  '0022-target-formats': { up: targetFormats },
  '0023-reasoning': { up: reasoning },
  '0024-record-sums': { up: recordSums },
  '0025-shadow-labels': { up: shadowLabels },
  '0026-replication': { up: replication },
  '0027-outbox': { up: outbox },
  '0028-shared-objects': { up: sharedObjects },
  '0029-tag-sums': { up: tagSums },
  '0030-eval-inputs': { up: evalInputs },
  '0031-shared-usage': { up: sharedUsage },
  '0032-shared-bodies': { up: sharedBodies },
  '0033-bodies-until': { up: bodiesUntil },
  '0034-removal-clock': { up: removalClock },
}
