import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { orpc } from '../../client/admin.ts'
import { operationNamed } from '../../contract/operations.ts'
import {
  AddButton,
  Button,
  DataTable,
  Dialog,
  Drawer,
  Empty,
  entriesOf,
  OperationButton,
  OperationForm,
  QueryFault,
  RecordView,
  toast,
  UntrustedName,
  UntrustedText,
} from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'
import { keepScope } from '../../shell/keys.ts'
import { Loading } from '../../shell/page.tsx'
import { contractColumns } from './contract-columns.tsx'
import { fieldsOfPrice, type Price, ratesOfPrice } from './price-form.ts'

/** The rates that most prices have; all others are folded away. */
const usual = ['model', 'provider', 'input', 'output', 'cacheRead', 'cacheWrite']

/** Of a list of thousands nobody reads more. */
const mostShown = 60

const rate = { width: '120px', middleWidth: '112px', narrowWidth: '88px' }
const widths = {
  // The same model costs otherwise elsewhere: where there is no room for the column, its name stands below.
  model: {
    cell: ({ model, vendor }: Price) => (
      <>
        <span className="whole-name">
          <UntrustedName text={model} />
        </span>
        {vendor === null ? null : (
          <span className="second-line quiet">
            <UntrustedText text={vendor} />
          </span>
        )}
      </>
    ),
  },
  vendor: { width: '128px', middleWidth: '124px', wideOnly: true },
  provider: { width: '100px', middleWidth: '84px', wideOnly: true },
  input: rate,
  cache_read: { width: '112px', middleWidth: '100px', wideOnly: true },
  // The choice of columns is above it.
  output: { width: '120px', middleWidth: '112px', narrowWidth: '120px' },
  source: { width: '84px', wideOnly: true },
  version: {
    width: '116px',
    middleWidth: '112px',
    wideOnly: true,
    // One that was set has a moment; its day is enough here.
    cell: ({ version }: Price) => <span title={version}>{version.slice(0, 10)}</span>,
  },
}

export function Prices() {
  const prices = useQuery(orpc.prices.list.queryOptions({ input: {} }))
  const [text, setText] = useState('')
  const [own, setOwn] = useState(false)
  const [shown, setShown] = useState<Price | null>(null)
  /** The price that is to be set; with no model, a new one. */
  const [setting, setSetting] = useState<Partial<Price> | null>(null)
  const may = useMay('prices.set')
  const rows = (prices.data ?? []).filter((price) => matches(price, text) && (!own || price.source !== 'shipped'))
  return (
    <>
      <div className="row spread">
        <p className="quiet grow">
          USD per million tokens. A price that you set wins over the shipped one; recorded cost changes only when it is{' '}
          <Link to="/settings/operations/$operation" params={{ operation: 'cost.recompute' }} search={keepScope}>
            computed again
          </Link>
          .
        </p>
        {may ? <AddButton onClick={() => setSetting({})}>Set price</AddButton> : null}
      </div>
      <PriceFilter text={text} onText={setText} own={own} onOwn={setOwn} />
      {prices.isPending ? <Loading /> : null}
      <QueryFault of={prices} />
      {prices.data === undefined ? null : (
        <DataTable
          name="prices"
          label="Prices"
          rows={rows.slice(0, mostShown)}
          columns={contractColumns<Price>('prices.list', rows, { change: widths })}
          rowKey={({ vendor, provider, model, source }) => [vendor, provider, model, source].join(' ')}
          onOpen={(price) => setShown(price)}
          foot={footOf(rows.length - mostShown)}
          empty={
            <Empty title="No price matches" command="spgw prices set MODEL --input USD --output USD">
              Models without a price have no cost, and their requests are flagged as unpriced.
            </Empty>
          }
        />
      )}
      <Drawer open={shown !== null} title={shown?.model ?? ''} onClose={() => setShown(null)}>
        {shown === null ? null : (
          <OnePrice
            price={shown}
            onSet={() => {
              setSetting(shown)
              setShown(null)
            }}
            onDone={() => setShown(null)}
          />
        )}
      </Drawer>
      <Dialog
        open={setting !== null}
        title={setting?.model === undefined ? 'Set price' : `Set price of ${setting.model}`}
        onClose={() => setSetting(null)}
      >
        {setting === null ? null : <PriceForm of={setting} onClose={() => setSetting(null)} />}
      </Dialog>
    </>
  )
}

function footOf(more: number): string | null {
  return more > 0 ? `${more.toLocaleString('en-US')} more. Search to narrow the list.` : null
}

interface PriceFilterProps {
  text: string
  onText(text: string): void
  /** Only what was set or imported. */
  own: boolean
  onOwn(own: boolean): void
}

function PriceFilter({ text, onText, own, onOwn }: PriceFilterProps) {
  return (
    <div className="row wrap">
      <input
        type="search"
        className="input filter grow"
        aria-label="Search models"
        placeholder="Model, vendor or provider"
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(event) => onText(event.target.value)}
      />
      <label className="row">
        <input type="checkbox" checked={own} onChange={(event) => onOwn(event.target.checked)} />
        Only set or imported
      </label>
    </div>
  )
}

function matches({ model, vendor, provider }: Price, text: string): boolean {
  const words = text.toLowerCase().split(/\s+/)
  const all = [model, vendor, provider].join(' ').toLowerCase()
  return words.every((word) => all.includes(word))
}

function OnePrice({ price, onSet, onDone }: { price: Price; onSet(): void; onDone(): void }) {
  const may = useMay('prices.set')
  const { model, provider, source } = price
  return (
    <div className="stack">
      <RecordView entries={entriesOf(ratesOfPrice(price))} />
      {may ? (
        <div className="row">
          <Button onClick={onSet}>Set price</Button>
          {source === 'shipped' ? null : (
            <OperationButton
              operation="prices.remove"
              input={{ model, ...(provider === null ? {} : { provider }) }}
              name={model}
              done={`Price of ${model} removed`}
              onDone={onDone}
            >
              Remove
            </OperationButton>
          )}
        </div>
      ) : null}
    </div>
  )
}

function PriceForm({ of: price, onClose }: { of: Partial<Price>; onClose(): void }) {
  const providers = useQuery(orpc.providers.list.queryOptions({ input: {} }))
  const names = operationNamed('prices.set').fields.map(({ name }) => name)
  return (
    <OperationForm
      operation="prices.set"
      preset={price.model === undefined ? {} : fieldsOfPrice(price as Price)}
      fields={names}
      folded={names.filter((name) => !usual.includes(name))}
      suggestions={{ provider: providers.data?.map(({ name }) => name) ?? [] }}
      submit="Set price"
      onCancel={onClose}
      onDone={() => {
        toast({ tone: 'good', title: 'Price set' })
        onClose()
      }}
    />
  )
}
