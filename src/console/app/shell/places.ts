/** The pages that `g` and a letter open. */
export const places = [
  { key: 'o', to: '/', title: 'Overview' },
  { key: 'p', to: '/providers', title: 'Providers' },
  { key: 'r', to: '/routing', title: 'Routing' },
  { key: 'k', to: '/keys', title: 'Keys' },
  { key: 'q', to: '/requests', title: 'Requests' },
  { key: 'l', to: '/playground', title: 'Playground', operation: 'requests.send' },
  { key: 's', to: '/settings', title: 'Settings' },
] as const
