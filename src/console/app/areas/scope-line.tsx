import { UntrustedText } from '../parts/index.ts'

/** The names that several rows have: of them a narrow page says where each is. */
export function sharedNames(names: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>()
  const shared = new Set<string>()
  for (const name of names) (seen.has(name) ? shared : seen).add(name)
  return shared
}

/** Below a name on a narrow page, which has no column for it. */
export function ScopeLine({ project, environment }: { project: string; environment: string | null }) {
  return (
    <span className="second-line quiet">
      <UntrustedText text={`${project}/${environment ?? 'all'}`} />
    </span>
  )
}
