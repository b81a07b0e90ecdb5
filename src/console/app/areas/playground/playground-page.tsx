import { Page } from '../../shell/page.tsx'

export function PlaygroundPage() {
  return <Page title="Playground">{null}</Page>
}
