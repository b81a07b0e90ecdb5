import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import packageDescription from '../../package.json' with { type: 'json' }
import { dataDirectory, imageUser } from '../../scripts/release/image.ts'
import { loadSettings } from '../../src/config/load.ts'
import { localCommands } from '../../src/local-commands.ts'

const text = readFileSync(join(import.meta.dirname, '../../examples/kubernetes/spgw.yaml'), 'utf8')
const documents = parseAllDocuments(text).map((document) => {
  expect(document.errors).toEqual([])
  return document.toJS()
})
const [service, set] = documents
const pod = set.spec.template.spec
const [container] = pod.containers
const environment: Record<string, string> = Object.fromEntries(
  container.env.map(({ name, value }: { name: string; value: string }) => [name, value]),
)

describe('the Kubernetes manifests', () => {
  it('are one service and one gateway, which belong together', () => {
    expect(documents.map(({ kind }) => kind)).toEqual(['Service', 'StatefulSet'])
    expect(set.spec.replicas).toBe(1)
    expect(set.spec.serviceName).toBe(service.metadata.name)
    expect(set.spec.selector.matchLabels).toEqual(service.spec.selector)
    expect(set.spec.template.metadata.labels).toEqual(service.spec.selector)
    const named = new Map(
      container.ports.map(({ name, containerPort }: { name: string; containerPort: number }) => [name, containerPort]),
    )
    for (const { port, targetPort } of service.spec.ports) expect(named.get(targetPort)).toBe(port)
  })

  it('has settings that there are, and time to drain', () => {
    const { SPGW_MACHINE_KEY_FILE, ...settings } = environment
    const { gateway } = loadSettings({ environment: settings, flags: { dataDir: tmpdir() } })
    expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThan(gateway.drainMs + 5000)
    const key = container.volumeMounts.find(({ name }: { name: string }) => name === 'machine-key')
    expect(SPGW_MACHINE_KEY_FILE).toBe(`${key.mountPath}/machine.key`)
    expect(text).toContain('--from-file=machine.key=')
    expect(text).toContain(`secret generic ${pod.volumes[0].secret.secretName} `)
  })

  it('runs the image as it is: its user, its data directory, its version', () => {
    expect([pod.securityContext.runAsUser, pod.securityContext.fsGroup]).toEqual([imageUser, imageUser])
    expect(container.volumeMounts[0].mountPath).toBe(dataDirectory)
    expect(container.image).toMatch(new RegExp(`:${packageDescription.version}$`))
    expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false })
  })

  it('probes with flags that there are, and waits longer than they do', () => {
    const health = localCommands.find(({ name }) => name === 'health')
    const flags = (health?.options ?? []).map((option) => option.flags.split(' ')[0])
    for (const name of ['startupProbe', 'readinessProbe', 'livenessProbe']) {
      const { exec, timeoutSeconds } = container[name]
      const [program, command, ...given] = exec.command
      expect([program, command]).toEqual(['spgw', 'health'])
      expect(flags).toEqual(expect.arrayContaining(given))
      // Of the command: 3 s.
      expect(timeoutSeconds).toBeGreaterThan(3)
    }
    expect(container.args.map((word: string) => localCommands.some(({ name }) => name === word))).toEqual([true])
  })
})
