const target = (provider: string, upstream_model: string, reason: string) => ({
  ...{ provider, upstream_model, reason, translated: null, losses: null, estimate_usd: null, latency_ms: null },
})
/** What `routes explain` answers, with all that it may say. */
export const explanation = {
  ...{ model: 'gpt-4o', lane: 'openai', request: null, project: 'default', environment: 'production' },
  key: { id: 'key_1', name: 'ci', project: 'default', environment: 'production' },
  route: {
    ...{ id: 'rte_1', model: 'gpt-4o-*', project: 'default', environment: 'production', strategy: 'priority' },
    ...{ sticky: true, hedge: { after: 'p95', share: 5 }, shadow: 'azure:small' },
  },
  taken: [
    target('openai', 'gpt-4o', 'active and ready'),
    {
      ...target('anthropic', 'claude', 'ready, translated from chat to messages'),
      losses: ['seed', 'messages[0].name'],
    },
    { ...target('gemini', 'gemini-3-pro', 'ready, translated from chat to generate'), losses: [] },
  ],
  skipped: [target('azure', 'gpt4o-eu', 'failing since 14:02 (credential rejected)')],
  policy_signals: [{ rule: 'models', verdict: 'pass', text: 'every model is allowed' }],
  limits: [
    {
      ...{ policy: 'team', scope: 'workspace', kind: 'requests', used: 12, limit: 60, left: 48 },
      resets_at: '2026-11-25T12:00:00Z',
    },
  ],
  periods: [
    {
      ...{ policy: 'team', scope: 'workspace', kind: 'usd', period: 'month', used: 150, held: 0.5, limit: 200 },
      ...{ left: 49.5, resets_at: '2026-12-01T00:00:00Z' },
    },
  ],
  routing_signals: [
    {
      rule: 'affinity',
      verdict: 'taken',
      text: 'The conversation stays with openai (gpt-4o): its prompt is in the cache there.',
    },
  ],
  error: null,
  note: null,
}
export const unrouted = {
  ...explanation,
  key: null,
  route: null,
  taken: [],
  skipped: [],
  limits: [],
  periods: [],
  routing_signals: [],
  policy_signals: [],
  error: { code: 'model_not_found', message: 'No route for gpt-4o. Close: gpt-4o-mini.' },
  note: 'search/production has such a route.',
}
