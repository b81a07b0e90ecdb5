import { Page } from '../../shell/page.tsx'

export function RecordPage() {
  return <Page title="Request">{null}</Page>
}
