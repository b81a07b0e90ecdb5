import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Call } from './calls.ts'
import { run, start, stop } from './children.ts'
import type { Machine } from './machine.ts'
import type { Mock } from './mock.ts'
import { type Address, freePort, type Starter, untilReady } from './target.ts'

const masterKey = 'sk-bench-master-key'
/** Python takes long to import it all. */
const readyMs = 120_000

/**
 * The peer in Python: one worker, with the settings that its documentation recommends for production, and its key asked for.
 * Installed here, once, from the pinned requirements beside this file.
 */
export async function prepareLitellm(machine: Machine, mock: Mock, place: string): Promise<Starter> {
  const directory = join(place, 'litellm')
  const program = await install(machine, directory)
  const configuration = join(directory, 'config.yaml')
  await writeFile(configuration, describeModels(mock))
  return async () => {
    const port = await freePort()
    const begun = performance.now()
    const words = ['--config', configuration, '--host', '127.0.0.1', '--port', String(port), '--num_workers', '1']
    const child = start(machine, [program, ...words], {
      place: 'measured',
      environment: { LITELLM_MODE: 'PRODUCTION', LITELLM_LOG: 'ERROR', LITELLM_LOCAL_MODEL_COST_MAP: 'True' },
    })
    child.stdout?.resume()
    const ready = await untilReady(child, `http://127.0.0.1:${port}/health/liveliness`, begun, readyMs)
    const reach = ({ way, path }: Call): Address => {
      if (way !== 'openai') throw new Error('measured on the OpenAI lane only')
      return { port, path, headers: { authorization: `Bearer ${masterKey}` } }
    }
    return { name: 'litellm', reach, pid: child.pid ?? 0, readyMs: ready, stop: () => stop(child, 1000) }
  }
}

/** Source: LiteLLM's page "Best Practices for Production"; nothing that sends data elsewhere. */
function describeModels({ port }: Mock): string {
  return JSON.stringify({
    model_list: [
      {
        model_name: 'bench-*',
        litellm_params: { model: 'openai/bench-*', api_base: `http://127.0.0.1:${port}/v1`, api_key: 'sk-bench' },
      },
    ],
    litellm_settings: { set_verbose: false, telemetry: false, num_retries: 0 },
    general_settings: { master_key: masterKey },
  })
}

/** The program's path. */
async function install(machine: Machine, directory: string): Promise<string> {
  const wanted = join(import.meta.dirname, 'litellm', 'requirements.txt')
  const mark = join(directory, 'installed.txt')
  const requirements = await readFile(wanted, 'utf8')
  if ((await readFile(mark, 'utf8').catch(() => null)) !== requirements) {
    process.stderr.write('Installing litellm …\n')
    await mkdir(directory, { recursive: true })
    await run(machine, ['python3', '-m', 'venv', join(directory, 'venv')], { place: 'all' })
    await run(machine, [join(directory, 'venv/bin/pip'), 'install', '--quiet', '-r', wanted], { place: 'all' })
    await writeFile(mark, requirements)
  }
  return join(directory, 'venv/bin/litellm')
}
