import { Outside } from '../parts/index.ts'
import { type Difference, placeInWords } from './differences.ts'

/** What was, and what is: told by words and signs, not by colour alone. */
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
        {differences.map(({ place, before, after }) => (
          <tr key={place}>
            <th scope="row">{placeInWords(place)}</th>
            <td className="difference-before">
              {before === null ? (
                <span className="quiet">Not set</span>
              ) : (
                <del>
                  <Outside text={before} />
                </del>
              )}
            </td>
            <td className="difference-after">
              {after === null ? (
                <span className="quiet">Not set</span>
              ) : (
                <ins>
                  <Outside text={after} />
                </ins>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
