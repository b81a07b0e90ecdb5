import { UntrustedText } from '../parts/index.ts'
import { type Difference, pathInWords } from './differences.ts'

/** Before and after, marked up as deleted and inserted, not by colour alone. */
export function DifferenceTable({ differences, same }: { differences: readonly Difference[]; same: string }) {
  if (differences.length === 0) return <p className="quiet">{same}</p>
  return (
    <table className="differences">
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Before</th>
          <th scope="col">After</th>
        </tr>
      </thead>
      <tbody>
        {differences.map(({ path, before, after }) => (
          <tr key={path}>
            <th scope="row">{pathInWords(path)}</th>
            <td className="difference-before">
              {before === null ? (
                <span className="quiet">Not set</span>
              ) : (
                <del>
                  <UntrustedText text={before} />
                </del>
              )}
            </td>
            <td className="difference-after">
              {after === null ? (
                <span className="quiet">Not set</span>
              ) : (
                <ins>
                  <UntrustedText text={after} />
                </ins>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
