import type { Settings } from '../../config/settings.ts'
import { findKind } from '../../providers/index.ts'
import { vendorOf } from '../../providers/vendor.ts'
import type { ConfigurationSnapshot } from '../../store/configuration/snapshot.ts'
import type { SpanProvider } from './spans.ts'
import type { TraceExporter, TraceExporterOptions, TraceState } from './trace-exporter.ts'

interface LazyTracesOptions extends Omit<TraceExporterOptions, 'provider'> {
  configuration(): ConfigurationSnapshot
}

/** The export of traces, loaded where a collector is configured. */
export class LazyTraces {
  readonly #options: LazyTracesOptions
  #exporter: TraceExporter | null = null

  constructor(options: LazyTracesOptions) {
    this.#options = options
  }

  async change(settings: Settings['telemetry']): Promise<void> {
    if (settings === null && this.#exporter === null) return
    const { TraceExporter } = await import('./trace-exporter.ts')
    const { configuration } = this.#options
    this.#exporter ??= new TraceExporter({
      ...this.#options,
      provider: (name) => describeProvider(configuration(), name),
    })
    this.#exporter.change(settings)
  }

  state(): TraceState | null {
    return this.#exporter?.state() ?? null
  }

  async stop(): Promise<void> {
    await this.#exporter?.stop()
  }
}

function describeProvider({ providers }: ConfigurationSnapshot, name: string): SpanProvider | null {
  const provider = providers.find((each) => each.name === name)
  if (provider === undefined) return null
  const kind = findKind(provider.kind)
  const vendor = kind === null ? null : vendorOf(kind, provider.settings)
  return { vendor: vendor ?? provider.kind, baseUrl: provider.baseUrl }
}
