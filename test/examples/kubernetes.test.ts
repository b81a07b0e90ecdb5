import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseAllDocuments } from 'yaml'
import packageDescription from '../../package.json' with { type: 'json' }
import { dataDirectory, imageUser } from '../../scripts/release/image.ts'
import { loadSettings } from '../../src/config/load.ts'
import { localCommands } from '../../src/local-commands.ts'

function readManifests(name: string) {
  const text = readFileSync(join(import.meta.dirname, '../../examples/kubernetes', name), 'utf8')
  const documents = parseAllDocuments(text).map((document) => {
    expect(document.errors).toEqual([])
    return document.toJS()
  })
  return { text, documents }
}

const { text, documents } = readManifests('spgw.yaml')
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

const single = pod

describe('the Kubernetes manifests of a cluster', () => {
  const { text, documents } = readManifests('cluster.yaml')
  const [set] = documents.filter(({ kind }) => kind === 'StatefulSet')
  const pod = set.spec.template.spec
  const [own] = pod.containers
  const variables: { name: string; value?: string; valueFrom?: object }[] = own.env

  it('have settings that there are, a name for each node, and time to drain', () => {
    const secrets = mkdtempSync(join(tmpdir(), 'spgw-kubernetes-'))
    onTestFinished(() => rmSync(secrets, { recursive: true }))
    for (const file of ['database-password', 'cache-password']) {
      expect(text).toContain(`--from-file=${file}`)
      writeFileSync(join(secrets, file), 'secret\n')
    }
    const given = variables
      .filter(({ name }) => name !== 'SPGW_MACHINE_KEY_FILE')
      .map(({ name, value = 'spgw-0' }) => [name, value.replace('/etc/spgw-servers/', `${secrets}/`)])
    const { cluster, gateway } = loadSettings({
      environment: Object.fromEntries(given),
      flags: { dataDir: tmpdir() },
    })
    expect(cluster).toMatchObject({ node: 'spgw-0', records: 'shared', sharesBudgets: true })
    expect([cluster?.password?.reveal(), cluster?.valkey?.password?.reveal()]).toEqual(['secret', 'secret'])
    expect(variables.find(({ name }) => name === 'SPGW_CLUSTER_NODE')?.valueFrom).toEqual({
      fieldRef: { fieldPath: 'metadata.name' },
    })
    const { periodSeconds, failureThreshold } = own.readinessProbe
    expect(gateway.drainNoticeMs).toBeGreaterThan(periodSeconds * failureThreshold * 1000)
    expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThan(gateway.drainNoticeMs + gateway.drainMs + 5000)
  })

  it('start every pod, though none is ready before somebody has let it join', () => {
    expect(set.spec.podManagementPolicy).toBe('Parallel')
  })

  it('are as the manifests of one gateway in all that is no matter of a cluster', () => {
    expect([own.image, own.args, own.securityContext]).toEqual([
      container.image,
      container.args,
      container.securityContext,
    ])
    expect([own.startupProbe, own.livenessProbe]).toEqual([container.startupProbe, container.livenessProbe])
    expect(pod.securityContext).toEqual(single.securityContext)
  })

  it('name services, labels, ports and volumes that there are', () => {
    const named = (kind: string) => documents.filter((document) => document.kind === kind)
    const services = named('Service')
    expect(services.map(({ metadata }) => metadata.name)).toContain(set.spec.serviceName)
    const { labels } = set.spec.template.metadata
    for (const { spec } of services) expect(spec.selector).toEqual(labels)
    for (const { spec } of [...named('PodDisruptionBudget'), set]) expect(spec.selector.matchLabels).toEqual(labels)
    const ports = own.ports.map(({ name }: { name: string }) => name)
    for (const { spec } of services) for (const { targetPort } of spec.ports) expect(ports).toContain(targetPort)
    const volumes = [
      ...pod.volumes,
      ...set.spec.volumeClaimTemplates.map(({ metadata }: { metadata: object }) => metadata),
    ]
    const names = volumes.map(({ name }: { name: string }) => name)
    for (const { name } of own.volumeMounts) expect(names).toContain(name)
  })
})
