import { Page } from '../../shell/page.tsx'

export function RoutingPage() {
  return <Page title="Routing">{null}</Page>
}
