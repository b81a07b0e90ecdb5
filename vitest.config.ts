import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { makeRunDirectory } from './test/support/run-directory.ts'

/** A machine that others use can take long over what takes no time, and nothing is tested by how long it takes. */
const patience = { testTimeout: 180_000, hookTimeout: 180_000, expect: { poll: { timeout: 60_000 } } }

process.env.TMPDIR = makeRunDirectory()
// A server's files as they are at first (test/support/postgres-server.ts).
process.env.SPGW_TEST_POSTGRES = join(process.env.TMPDIR, 'postgres')
// And a database without anything in it (test/support/empty-database.ts).
process.env.SPGW_TEST_DATABASE = join(process.env.TMPDIR, 'empty.db')
// Tests run in processes and threads of their own, each of which would compile the sources anew.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '.build/compile-cache')

/**
 * What `npm run test:unit` leaves out: unit tests that open a database, start a server, another program or threads, or
 * listen, and those that simulate or try random inputs for seconds, or count the work of large ones.
 */
const slow = process.env.SPGW_TEST_QUICK
  ? [
      'test/{admin,console,daemon,gateway,scripts,sign-in,store}/**/*.test.ts',
      'test/cluster/{connections,thread,valkey}.test.ts',
      'test/cluster/limits/{script,simulation}.test.ts',
      'test/cluster/readings/{postgres-source,readings,search,tag-sums}.test.ts',
      'test/cluster/records/{reprice,shipper,shipping,usage-claims,write-records}.test.ts',
      'test/cli/{completion,health,manual,remote}.test.ts',
      'test/config/certificate.test.ts',
      'test/core/json/sliced-json.test.ts',
      'test/examples/{cluster,systemd}.test.ts',
      'test/import/any-file.test.ts',
      'test/lanes/long-values.test.ts',
      'test/manifest/write.test.ts',
      'test/policy/content/text-scan.test.ts',
      'test/policy/counters.test.ts',
      'test/policy/limits/{budget,limit}-counters.test.ts',
      'test/providers/{egress,http,machine-identity,rebinding,socket,socket-peer}.test.ts',
      'test/routing/health-threads.test.ts',
      'test/translate/{prefixes,properties}.test.ts',
      'test/**/*cost.test.ts',
    ]
  : []

/** They count steps, of what is compiled after the count began only: each needs a process (`test/support/count-steps.ts`). */
const counted = [
  'test/config/nesting.test.ts',
  'test/core/parser-cost.test.ts',
  'test/manifest/cost.test.ts',
  'test/routing/route-index.test.ts',
  'test/store/ingest/segment-rest.test.ts',
  'test/translate/cost.test.ts',
]

const threads = { SPGW_TEST_THREADS: join(import.meta.dirname, '.build/test-threads') }

export default defineConfig({
  test: {
    reporters: ['default'],
    // Most tests wait for something most of the time; left alone, vitest runs one file after the other on two cores.
    maxWorkers: 4,
    projects: [
      { test: { name: 'rules', include: ['test/rules/**/*.test.ts'], isolate: false, ...patience } },
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.{ts,tsx}'],
          exclude: ['test/rules/**', 'test/e2e/**', 'test/integration/**', ...counted, ...slow],
          // Starting a process and reading the sources anew took longer than most files take.
          isolate: false,
          globalSetup: ['test/support/bundle-threads.ts'],
          env: threads,
          ...patience,
        },
      },
      {
        test: {
          name: 'counted',
          include: counted,
          exclude: slow,
          env: { SPGW_TEST_COUNTED: '1' },
          ...patience,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          // Each starts gateways of its own. The SDKs that nearly all of them import are read once, and not once a file.
          isolate: false,
          globalSetup: ['test/support/bundle-once.ts'],
          env: { SPGW_TEST_BUNDLE: join(import.meta.dirname, '.build/bundles/tests/main.js') },
          ...patience,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          // What they import (browsers, SDKs) is read once, and not once a file.
          isolate: false,
          globalSetup: ['test/support/package-once.ts', 'test/support/bundle-once.ts'],
          // Where `startGateway` is used, it starts the packaged executable too.
          env: { SPGW_TEST_EXECUTABLE: join(import.meta.dirname, 'dist/spgw') },
          ...patience,
        },
      },
    ],
  },
})
