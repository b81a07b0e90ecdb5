import { Suspense } from 'react'
import { lazyPart } from '../shell/lazy-page.ts'
import type { ChartProps } from './chart-canvas.tsx'
import { ScrollRegion } from './scroll-region.tsx'

const ChartCanvas = lazyPart(async () => (await import('./chart-canvas.tsx')).default)

export type { ChartProps, ChartSeries } from './chart-canvas.tsx'

/** A chart over time. Its library is loaded with the first one; the place is kept free for it meanwhile. */
export function Chart(props: ChartProps) {
  return (
    <figure className={props.series.length === 1 ? 'chart chart-single' : 'chart'}>
      <figcaption className="row spread">
        <span className="chart-title">{props.title}</span>
        {props.figure === undefined ? null : <span className="number quiet">{props.figure}</span>}
      </figcaption>
      <Suspense fallback={<div className="chart-canvas" />}>
        <ChartCanvas {...props} />
      </Suspense>
      <ChartTable {...props} />
    </figure>
  )
}

/** The same figures to read, for those who cannot see the drawing or want the numbers. */
function ChartTable({ title, times, series, write }: ChartProps) {
  return (
    <details className="chart-table">
      <summary className="small quiet">View as table</summary>
      <ScrollRegion label={`${title}, table`}>
        <table className="table table-dense">
          <thead>
            <tr>
              <th scope="col">Time</th>
              {series.map(({ name }) => (
                <th key={name} scope="col" className="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {times.map((time, index) => (
              <tr key={time}>
                <th scope="row" className="number">
                  {new Date(time).toISOString().slice(0, 19)}Z
                </th>
                {series.map(({ name, values }) => (
                  <td key={name} className="number">
                    {write(values[index] ?? null)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </details>
  )
}
