import { Page } from '../../shell/page.tsx'

export function RoutePage() {
  return <Page title="Route">{null}</Page>
}
