/**
 * The building blocks of pages. Use these before writing new ones: they hold the style, keyboard handling and wording.
 *
 * Places   `DataTable` lists; `RecordView` with `entriesOf(answer)` one thing; `Empty` a place with nothing in it;
 *          `Page` (shell/page.tsx) the frame with title and buttons; `Tabs`, `Drawer`, `Dialog`, `Menu`.
 * Doing    `OperationForm` draws a form from an operation's input and calls it; `OperationButton` does one operation and
 *          asks first where it is dangerous; `useOperation` calls by hand; `useMay('keys.create')` (session/) whether a
 *          operator may call an operation; `toast` and `toastFault` say how it went.
 * Values   `Time`, `Money`, `Rate`, `Browser`, `Duration`, `Bytes`, `Count`, `Id`, `StateBadge`, `UntrustedText` for text from outside (models,
 *          user agents, messages), `Missing`; `derivedColumn` for the contract's own columns, `DerivedValue` for any value.
 * Drawing  `Sparkline`, `Chart` (loaded when the first is drawn).
 * Text     `CopyButton`, `Code`, `Snippets`, `Command`.
 *
 * Data: `useQuery(orpc.keys.list.queryOptions({ input }))` with `orpc` of client/admin.ts. What a change of
 * configuration touches is read anew by itself (live/); records come by `requests.tail`. `useScope()` (session/scope.ts)
 * has project and environment of the address. A failed read is shown by `QueryFault`.
 *
 * An area is a folder below areas/: `routes.ts` (pages are loaded when they are opened), its pages, and one style sheet,
 * named in styles/areas.css. A page reads its address with `getRouteApi('/app/keys/$key')`: importing routes.ts would
 * be a cycle.
 */
export { AddButton, Button, IconButton, LinkButton } from './button.tsx'
export { Chart, ChartLegend, type ChartSeries } from './chart.tsx'
export { ConfirmDialog } from './confirm-dialog.tsx'
export { CopyButton } from './copy-button.tsx'
export { DataTable, isLongTable, type TableHandle } from './data-table.tsx'
export { DerivedValue, derivedColumn } from './derived-cell.tsx'
export { Dialog, Drawer } from './dialog.tsx'
export { Command, Empty } from './empty.tsx'
export { FaultNotice } from './fault-notice.tsx'
export { type ControlProps, FormField } from './form-field.tsx'
export { Histogram } from './histogram.tsx'
export { Menu } from './menu.tsx'
export { OperationButton } from './operation-button.tsx'
export { useOperation } from './operation-call.ts'
export { FormFault, OperationForm } from './operation-form.tsx'
export { QueryFault } from './query-fault.tsx'
export { entriesOf, type RecordEntry, RecordView } from './record-view.tsx'
export { Code, Snippets } from './snippets.tsx'
export { Sparkline } from './sparkline.tsx'
export { StateBadge } from './state-badge.tsx'
export type { TableColumn } from './table-columns.tsx'
export { Tabs } from './tabs.tsx'
export { toast, toastFault } from './toast-store.ts'
export {
  Browser,
  Bytes,
  Count,
  Duration,
  digitsOfMoney,
  Id,
  Missing,
  Money,
  Rate,
  Since,
  Time,
  UntrustedName,
  UntrustedText,
} from './values.tsx'
