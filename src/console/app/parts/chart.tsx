import { Suspense } from 'react'
import { escapeControls } from '../../../admin/contract/show-value.ts'
import { lazyPart } from '../shell/lazy-page.ts'
import type { ChartProps } from './chart-canvas.tsx'
import type { ChartSeries } from './chart-series.ts'
import { ScrollRegion } from './scroll-region.tsx'

const ChartCanvas = lazyPart(async () => (await import('./chart-canvas.tsx')).default)

export type { ChartSeries } from './chart-series.ts'

/** A chart over time. Its library is loaded with the first one; the place is kept free for it meanwhile. */
export function Chart(props: ChartProps) {
  return (
    <figure className="chart">
      <figcaption className="row spread">
        <span className="chart-title">{props.title}</span>
        {props.figure === undefined ? null : <span className="number quiet">{props.figure}</span>}
      </figcaption>
      <Suspense fallback={<div className="chart-canvas" />}>
        <ChartCanvas {...props} />
      </Suspense>
      {props.legend === false || props.series.length < 2 ? null : <ChartLegend series={props.series} />}
      <ChartTable {...props} />
    </figure>
  )
}

/** Which colour is what; once for all charts of a page where they show the same groups. */
export function ChartLegend({ series }: { series: readonly ChartSeries[] }) {
  return (
    <ul className="row chart-legend small">
      {series.map(({ name, colour }, index) => (
        <li key={name} className="row">
          <span className="swatch" style={{ background: `var(${colour ?? `--chart-${(index % 9) + 1}`})` }} />
          <bdi>{escapeControls(name)}</bdi>
        </li>
      ))}
    </ul>
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
