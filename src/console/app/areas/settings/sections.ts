import { type LazyComponent, lazyPart } from '../../shell/lazy-page.ts'

export interface SettingsSection {
  /** In the address. */
  word: string
  title: string
  about: string
  /** Other words that people look for it with. */
  words?: string
  /** Whoever may not call it is not shown the section. */
  operation: string
  View: LazyComponent<object>
}

export const sections: readonly SettingsSection[] = [
  {
    word: 'projects',
    title: 'Projects',
    about: 'Projects and their environments',
    words: 'teams spend spending spent',
    operation: 'projects.list',
    View: lazyPart(async () => (await import('./projects.tsx')).Projects),
  },
  {
    word: 'policies',
    title: 'Policies',
    about: 'Budgets, limits, allowed models and content rules',
    words: 'rate quota spend spending usage guardrails detectors',
    operation: 'policies.list',
    View: lazyPart(async () => (await import('./policies.tsx')).Policies),
  },
  {
    word: 'prices',
    title: 'Prices',
    about: 'What models cost',
    words: 'spend spending',
    operation: 'prices.list',
    View: lazyPart(async () => (await import('./prices.tsx')).Prices),
  },
  {
    word: 'operators',
    title: 'Operators',
    about: 'People who sign in, and their roles',
    operation: 'operators.list',
    View: lazyPart(async () => (await import('./operators.tsx')).Operators),
  },
  {
    word: 'tokens',
    title: 'API tokens',
    about: 'Access for scripts and automation',
    operation: 'tokens.list',
    View: lazyPart(async () => (await import('./tokens.tsx')).Tokens),
  },
  {
    word: 'alerts',
    title: 'Alerts',
    about: 'Webhooks for budgets, failing providers, errors, disk and expiry',
    words: 'warn warnings notify notifications slack',
    operation: 'alerts.list',
    View: lazyPart(async () => (await import('./alerts.tsx')).Alerts),
  },
  {
    word: 'sessions',
    title: 'Sessions',
    about: 'Who is signed in, and from where',
    operation: 'sessions.list',
    View: lazyPart(async () => (await import('./sessions.tsx')).Sessions),
  },
  {
    word: 'audit',
    title: 'Audit',
    about: 'Who changed what, and when',
    operation: 'audit.list',
    View: lazyPart(async () => (await import('./audit.tsx')).Audit),
  },
  {
    word: 'configuration',
    title: 'Configuration',
    about: 'Apply or export configuration',
    operation: 'diff',
    View: lazyPart(async () => (await import('./configuration.tsx')).Configuration),
  },
  {
    word: 'seal',
    title: 'Seal',
    about: 'Machine key and recovery key',
    operation: 'seal.status',
    View: lazyPart(async () => (await import('./seal.tsx')).Seal),
  },
  {
    word: 'backup',
    title: 'Backup',
    about: 'A copy of the running gateway',
    operation: 'backup',
    View: lazyPart(async () => (await import('./backup.tsx')).Backup),
  },
  {
    word: 'about',
    title: 'About',
    about: 'Version, addresses, disk usage and cluster',
    operation: 'status',
    View: lazyPart(async () => (await import('./about.tsx')).About),
  },
]
