/** Ids of what there is a page of its own for; where one is missing, its page is left out. */
export interface Places {
  request?: string
  fallback?: string
  refused?: string
  key?: string
  route?: string
  provider?: string
}

const settings = [
  'projects',
  'policies',
  'prices',
  'operators',
  'tokens',
  'alerts',
  'sessions',
  'audit',
  'configuration',
  'seal',
  'backup',
  'about',
] as const

/** Every page of the console by its address. */
export function everyPage({ request, fallback, refused, key, route, provider }: Places): Record<string, string> {
  return {
    overview: '/',
    providers: '/providers',
    'provider-add': '/providers?add=openai',
    ...(provider === undefined ? {} : { provider: `/providers/${provider}` }),
    routing: '/routing',
    ...(route === undefined ? {} : { route: `/routing/${route}` }),
    keys: '/keys',
    'key-create': '/keys?create=new',
    ...(key === undefined ? {} : { key: `/keys/${key}` }),
    requests: '/requests',
    ...(request === undefined ? {} : { record: `/requests/${request}` }),
    ...(fallback === undefined ? {} : { 'record-fallback': `/requests/${fallback}` }),
    ...(refused === undefined ? {} : { 'record-refused': `/requests/${refused}` }),
    playground: '/playground',
    settings: '/settings',
    ...Object.fromEntries(settings.map((word) => [`settings-${word}`, `/settings/${word}`])),
    operations: '/settings/operations',
    operation: '/settings/operations/keys.create',
    account: '/account',
  }
}
