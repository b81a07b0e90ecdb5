import { Page } from '../../shell/page.tsx'

export function RequestsPage() {
  return <Page title="Requests">{null}</Page>
}
