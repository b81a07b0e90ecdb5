import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Files that take long for their size. Without results of an earlier run vitest begins with the largest, and what takes half a
 * minute in twenty lines would come last, when the others have nothing left to do.
 */
export const longest = ['hostile', 'blocked-thread', 'learned-routing', 'alerts', 'rotate-crash', 'capture-crash'].map(
  (name) => `test/integration/${name}.test.ts`,
)

/** The longest of each project before its others, which keep their order. */
export function longestFirst<Spec extends Pick<TestSpecification, 'moduleId'> & { project: { name: string } }>(
  specs: readonly Spec[],
  root: string,
): Spec[] {
  const isLong = ({ moduleId }: Spec) => longest.includes(relative(root, moduleId))
  const projects = Map.groupBy(specs, ({ project }) => project.name)
  return [...projects.values()].flatMap((files) => [...files.filter(isLong), ...files.filter((file) => !isLong(file))])
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return longestFirst(await super.sort(files), this.ctx.config.root)
  }
}
