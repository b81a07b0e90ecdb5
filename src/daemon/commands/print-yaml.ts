import { stringify } from 'yaml'

/** A module of its own: bundled packages are split off by their importer, and this one is loaded only when it is asked for. */
export function printYaml(document: object): string {
  return stringify(document, { lineWidth: 0 })
}
