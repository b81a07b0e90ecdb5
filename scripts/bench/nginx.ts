import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Call } from './calls.ts'
import { run, start, stop } from './children.ts'
import type { Machine } from './machine.ts'
import type { Mock } from './mock.ts'
import { freePort, type Target, untilReady } from './target.ts'

interface Front {
  machine: Machine
  mock: Mock
  directory: string
}

/** TLS in front of the mock. The certificate, a file, is trusted by nobody else. */
export interface TlsFront {
  port: number
  certificate: string
}

/** The floor: a bare `proxy_pass` that keeps connections, logs nothing and buffers no stream. */
export async function startNginx({ machine, mock, directory }: Front, tls: TlsFront | null): Promise<Target> {
  const port = await freePort()
  const tlsPort = await freePort()
  const servers = [proxyServer(`${port}`, 'http', mock.port)]
  if (tls !== null) {
    const check = `proxy_ssl_verify on; proxy_ssl_trusted_certificate ${tls.certificate}; proxy_ssl_name 127.0.0.1;`
    servers.push(proxyServer(`${tlsPort}`, 'https', tls.port, check))
  }
  const begun = performance.now()
  const child = await startServer(machine, join(directory, `nginx-${port}`), servers, 'measured')
  const readyMs = await untilReady(child, `http://127.0.0.1:${port}/ready`, begun)
  const reach = ({ way, path }: Call) => ({ port: way === 'tls' ? tlsPort : port, path, headers: {} })
  return { name: 'nginx', reach, pid: child.pid ?? 0, readyMs, stop: () => stop(child) }
}

/** TLS in front of the mock, on the load's cores. */
export async function startTlsFront({ machine, mock, directory }: Front): Promise<TlsFront> {
  const place = join(directory, 'tls')
  await mkdir(place, { recursive: true })
  const certificate = join(place, 'certificate.pem')
  const key = join(place, 'key.pem')
  const request =
    'openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1'
  const files = ['-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', certificate]
  await run(machine, [...request.split(' '), ...files], { place: 'load' })
  const port = await freePort()
  const listen = `${port} ssl; ssl_certificate ${certificate}; ssl_certificate_key ${key}`
  await startServer(machine, place, [proxyServer(listen, 'http', mock.port)], 'load')
  return { port, certificate }
}

function proxyServer(listen: string, scheme: 'http' | 'https', to: number, more = ''): string {
  return `
  upstream mock-${scheme} { server 127.0.0.1:${to}; keepalive 4096; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${listen};
    location = /ready { return 200; }
    location / {
      proxy_pass ${scheme}://mock-${scheme}; proxy_http_version 1.1; proxy_set_header connection ""; proxy_buffering off;
      ${more}
    }
  }`
}

async function startServer(machine: Machine, place: string, servers: string[], on: 'measured' | 'load') {
  await mkdir(place, { recursive: true })
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  // One process, so that its pid stands for all that it costs.
  const configuration = `
daemon off; master_process off; worker_processes 1; pid ${place}/pid; error_log ${place}/error.log;
worker_rlimit_nofile 16384;
events { worker_connections 8192; }
http {
  access_log off; keepalive_requests 1000000000; tcp_nodelay on;
  client_max_body_size 20m; client_body_buffer_size 2m;
  ${temporary.map((name) => `${name}_temp_path ${place}/${name};`).join(' ')}
  ${servers.join('')}
}
`
  await writeFile(join(place, 'nginx.conf'), configuration)
  return start(machine, ['nginx', '-e', `${place}/error.log`, '-p', place, '-c', `${place}/nginx.conf`], { place: on })
}
