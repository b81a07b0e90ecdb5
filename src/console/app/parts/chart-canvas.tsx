import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import type { ChartSeries } from './chart-series.ts'

export interface ChartProps {
  title: string
  /** The sum or the like, beside the title. */
  figure?: string
  /** Milliseconds since the epoch, ascending. */
  times: readonly number[]
  series: readonly ChartSeries[]
  variant?: 'lines' | 'bars'
  /** A value with its unit. */
  write(value: number | null): string
  /** A span was drawn with the pointer: from, until, in milliseconds since the epoch. */
  onZoom?(since: number, until: number): void
  /** The names of the series below the chart; not where the page has them once for all its charts. */
  legend?: boolean
}

const height = 180

export default function ChartCanvas(props: ChartProps) {
  const container = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = container.current
    if (element === null) return
    let plot = draw(element, props)
    const again = () => {
      plot.destroy()
      plot = draw(element, props)
    }
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    const sized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }))
    sized.observe(element)
    scheme.addEventListener('change', again)
    addEventListener('themechange', again)
    return () => {
      sized.disconnect()
      scheme.removeEventListener('change', again)
      removeEventListener('themechange', again)
      plot.destroy()
    }
  }, [props])
  return <div className="chart-canvas" ref={container} aria-hidden="true" />
}

function draw(element: HTMLElement, props: ChartProps): uPlot {
  const { times, series, variant } = props
  const seconds = times.map((time) => time / 1000)
  const drawn = variant === 'bars' ? stack(series) : series.map(({ values }) => [...values])
  return new uPlot(optionsOf(element, props), [seconds, ...drawn], element)
}

function optionsOf(
  element: HTMLElement,
  { times, series, variant = 'lines', write, onZoom }: ChartProps,
): uPlot.Options {
  const colour = (name: string) => readColour(element, name)
  const tip = document.createElement('div')
  tip.className = 'chart-tip'
  tip.hidden = true
  const axis = { stroke: colour('--text-quiet'), font: '11px system-ui', ticks: { show: false } }
  const grid = { stroke: colour('--border'), width: 1 }
  return {
    width: element.clientWidth,
    height,
    // Room for half of the last label of the time axis.
    padding: [8, 16, 0, 0],
    cursor: { drag: { x: onZoom !== undefined, y: false, setScale: false }, y: false, points: { size: 6 } },
    legend: { show: false },
    scales: { x: spanOf(times, variant), y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.1 : 1] } },
    axes: [
      { ...axis, grid: { show: false }, values: writeTimes },
      {
        ...axis,
        ...stepsOf(series),
        grid,
        size: widthOfLabels,
        space: 30,
        values: (_plot, splits) => splits.map((value) => (value === 0 ? '0' : write(value))),
      },
    ],
    series: [
      {},
      ...series.map(({ name, values }, index) => ({
        label: name,
        stroke: colour(colourOf(series, index)),
        width: 1.5,
        points: { show: true, size: 5, filter: () => pointsOf(values) },
        ...(variant === 'bars' ? barsOf(colour(colourOf(series, index))) : {}),
      })),
    ],
    hooks: {
      setSelect: [(plot) => zoom(plot, onZoom)],
      setCursor: [(plot) => showTip(plot, tip, series, write)],
    },
  }
}

export function colourOf(series: readonly ChartSeries[], index: number): string {
  return series[index]?.colour ?? `--chart-${(index % 9) + 1}`
}

/** What is under the pointer, beside it. */
function showTip(plot: uPlot, tip: HTMLElement, series: readonly ChartSeries[], write: ChartProps['write']): void {
  const { idx, left = 0 } = plot.cursor
  const time = idx === null || idx === undefined ? undefined : plot.data[0][idx]
  tip.hidden = time === undefined || left < 0
  if (time === undefined || idx === null || idx === undefined) return
  if (tip.parentElement !== plot.over) plot.over.append(tip)
  const rows = series.map(({ name, values }, index) =>
    tipRow(name, write(values[idx] ?? null), colourOf(series, index)),
  )
  const head = document.createElement('div')
  head.textContent = writeMoment(time)
  tip.replaceChildren(head, ...rows)
  const onRight = left > plot.over.clientWidth / 2
  tip.style.left = onRight ? 'auto' : `${left + 12}px`
  tip.style.right = onRight ? `${plot.over.clientWidth - left + 12}px` : 'auto'
}

function tipRow(name: string, value: string, colour: string): HTMLElement {
  const row = document.createElement('div')
  const swatch = document.createElement('span')
  swatch.className = 'swatch'
  swatch.style.background = `var(${colour})`
  const text = document.createElement('span')
  text.textContent = name
  const figure = document.createElement('b')
  figure.textContent = value
  row.append(swatch, text, figure)
  return row
}

/** A single point is drawn in the middle of an hour. Bars get room for half a bar at both ends. */
function spanOf([first = 0, second]: readonly number[], variant: 'lines' | 'bars'): uPlot.Scale {
  const room = second === undefined ? 1800 : variant === 'bars' ? (second - first) / 2000 : 0
  return room === 0 ? {} : { range: (_plot, low, high) => [low - room, high + room] }
}

/** No broader than its labels are: the plot fills the card. */
function widthOfLabels(_plot: uPlot, labels: string[] | null): number {
  const longest = Math.max(1, ...(labels ?? []).map((label) => label.length))
  return 14 + longest * 6.5
}

/** Integers get no fractional ticks. */
function stepsOf(series: readonly ChartSeries[]): Pick<uPlot.Axis, 'incrs'> {
  const whole = series.every(({ values }) => values.every((value) => value === null || Number.isInteger(value)))
  if (!whole) return {}
  return { incrs: Array.from({ length: 13 }, (_, zeros) => [1, 2, 5].map((step) => step * 10 ** zeros)).flat() }
}

const fewPoints = 12

/** Marks the points if there are few, and isolated points, which no line shows. */
function pointsOf(values: readonly (number | null)[]): number[] {
  const known = values.flatMap((value, index) => (value === null ? [] : [index]))
  if (known.length <= fewPoints) return known
  return known.filter((index) => (values[index - 1] ?? null) === null && (values[index + 1] ?? null) === null)
}

/** Stacked bars: each series is drawn as the sum of itself and those after it, largest first. */
function stack(series: readonly ChartSeries[]): (number | null)[][] {
  return series.map(({ values }, at) =>
    values.map((_, index) => series.slice(at).reduce((sum, one) => sum + (one.values[index] ?? 0), 0)),
  )
}

function barsOf(fill: string): Partial<uPlot.Series> {
  const paths = uPlot.paths.bars?.({ size: [0.8, 24] })
  return paths === undefined ? {} : { paths, fill, width: 0, points: { show: false } }
}

function zoom(plot: uPlot, onZoom: ChartProps['onZoom']): void {
  const { left, width } = plot.select
  if (width < 4) return
  const since = plot.posToVal(left, 'x') * 1000
  const until = plot.posToVal(left + width, 'x') * 1000
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
  onZoom?.(since, until)
}

/** A canvas cannot read custom properties: a temporary element resolves the colour. */
function readColour(element: HTMLElement, name: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${name})`
  element.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

/** As the axis has it, with its date. */
function writeMoment(seconds: number): string {
  const moment = new Date(seconds * 1000)
  return `${moment.getDate()} ${moment.toLocaleString('en-GB', { month: 'short', hour: '2-digit', minute: '2-digit' })}`
}

const daySeconds = 86_400

/** Times of the day as a clock shows them, and the date where a new one begins. */
function writeTimes(_plot: uPlot, splits: number[], _axis: number, _space: number, stepSeconds: number): string[] {
  let before = ''
  return splits.map((seconds) => {
    const moment = new Date(seconds * 1000)
    const date = `${moment.getDate()} ${moment.toLocaleString('en-GB', { month: 'short' })}`
    const isNew = date !== before
    before = date
    if (stepSeconds >= daySeconds) return date
    const clock = moment.toLocaleTimeString('en-GB', stepSeconds < 60 ? {} : { hour: '2-digit', minute: '2-digit' })
    return isNew ? `${clock}\n${date}` : clock
  })
}
