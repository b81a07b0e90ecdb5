import { Page } from '../../shell/page.tsx'

export function ProviderPage() {
  return <Page title="Provider">{null}</Page>
}
