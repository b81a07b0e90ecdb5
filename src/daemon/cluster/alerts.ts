import { setTimeout as wait } from 'node:timers/promises'
import type { ClusterNode } from '../../cluster/node.ts'
import type { ClusterSettings } from '../../config/settings.ts'
import type { AlertReport } from '../alerts/changes.ts'

/** A PostgreSQL that takes longer may be away. */
const claimMs = 3000

interface ClaimParts {
  node: ClusterNode
  name: string
  settings: Pick<ClusterSettings, 'sharesBudgets'>
}

/**
 * Those of an alert's reports that this node is to send. What all nodes find alike (budgets that they share, keys that expire) is sent
 * by the first that says so in PostgreSQL; by each of them where PostgreSQL does not answer, since an alert that comes twice
 * is better than none. What is of one node alone has its name.
 */
export async function claimReports(
  { node, name, settings }: ClaimParts,
  alert: string,
  reports: readonly AlertReport[],
): Promise<readonly AlertReport[]> {
  if (node.state === null) return reports
  const isShared = ({ crossing }: AlertReport) =>
    /^expiry key:/.test(crossing) || (settings.sharesBudgets && /^budget /.test(crossing))
  // Also by the names that nodes of an earlier version claim.
  const crossings = reports.filter(isShared).flatMap((report) => {
    return [report.crossing, ...report.includes, ...(report.formerly ?? [])]
  })
  const theirs = new Set(crossings.length === 0 ? [] : await claim(node, alert, crossings))
  return reports
    .filter(({ crossing, formerly: [former = crossing] = [] }) => !theirs.has(crossing) && !theirs.has(former))
    .map((report) => (isShared(report) ? report : ofNode(report, name)))
}

async function claim(node: ClusterNode, alert: string, crossings: string[]): Promise<string[]> {
  const member = node.state?.member ?? ''
  const asked = node.link.ask('claim-alert', { member, alert, crossings }).catch(() => [])
  return await Promise.race([asked, wait(claimMs, [], { ref: false })])
}

function ofNode({ message, ...report }: AlertReport, node: string): AlertReport {
  const { data } = message
  return { ...report, message: { ...message, data: { ...data, text: `Node ${node}: ${data.text}`, node } } }
}
