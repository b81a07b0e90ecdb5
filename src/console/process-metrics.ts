import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Family } from './exposition.ts'
import { gauge } from './metrics.ts'

/** The sampling interval. Node includes it in the delays that it reports. */
const samplingMs = 20

/** The process and the control plane's event loop, under the names that Prometheus clients share. */
export class ProcessMetrics {
  readonly #delay = monitorEventLoopDelay({ resolution: samplingMs })

  start(): void {
    this.#delay.enable()
  }

  stop(): void {
    this.#delay.disable()
  }

  families(): Family[] {
    const { user, system } = process.cpuUsage()
    const startedAt = Date.now() / 1000 - process.uptime()
    const families: Family[] = [
      {
        name: 'process_cpu_seconds_total',
        type: 'counter',
        help: 'User and system CPU time of the whole process.',
        samples: [{ value: (user + system) / 1e6 }],
      },
      gauge('process_start_time_seconds', 'Start of the process, in seconds since the epoch.', Math.round(startedAt)),
      gauge('process_resident_memory_bytes', 'Resident memory of the whole process.', process.memoryUsage.rss()),
      gauge(
        'nodejs_heap_size_used_bytes',
        "Heap in use by the control plane's thread.",
        process.memoryUsage().heapUsed,
      ),
      this.#lag('p50', this.#delay.percentile(50)),
      this.#lag('p99', this.#delay.percentile(99)),
      this.#lag('max', this.#delay.max),
    ]
    this.#delay.reset()
    return families
  }

  #lag(which: string, nanoseconds: number): Family {
    const name = `nodejs_eventloop_lag_${which}_seconds`
    const help = `Delay of the control plane's event loop since the last scrape, ${which}.`
    return gauge(name, help, Math.max(0, nanoseconds / 1e9 - samplingMs / 1000))
  }
}
