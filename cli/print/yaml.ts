import { stringify } from 'yaml'

/** A module of its own, since it is loaded only when it is asked for, and bundled packages are split off by their importer. */
export function renderYaml(output: unknown): string {
  return stringify(output)
}
