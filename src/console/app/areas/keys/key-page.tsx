import { Page } from '../../shell/page.tsx'

export function KeyPage() {
  return <Page title="Key">{null}</Page>
}
