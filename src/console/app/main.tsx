import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import './styles/index.css'
import { queries } from './client/queries.ts'
import { router } from './router.tsx'
import { applyTheme, readTheme } from './session/theme.ts'

applyTheme(readTheme())

const root = document.querySelector('#app')
if (root === null) throw new Error('the page has no element #app')
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
)
