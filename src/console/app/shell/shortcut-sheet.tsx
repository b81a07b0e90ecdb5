import { Dialog } from '../parts/dialog.tsx'
import { places } from './places.ts'

const others = [
  { keys: ['/', 'ctrl K'], title: 'Search' },
  { keys: ['j'], title: 'Next row' },
  { keys: ['k'], title: 'Previous row' },
  { keys: ['enter'], title: 'Open row' },
  { keys: ['p'], title: 'Pause or resume live updates' },
  { keys: ['esc'], title: 'Close' },
  { keys: ['?'], title: 'Show keyboard shortcuts' },
]

export function ShortcutSheet({ open, onClose }: { open: boolean; onClose(): void }) {
  const rows = [...places.map(({ key, title }) => ({ keys: ['g', key], title })), ...others]
  return (
    <Dialog open={open} title="Keyboard shortcuts" onClose={onClose}>
      <dl className="shortcuts">
        {rows.map(({ keys, title }) => (
          <div key={title} className="row spread">
            <dt>{title}</dt>
            <dd className="row">
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
