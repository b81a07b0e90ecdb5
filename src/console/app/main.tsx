import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import './styles/index.css'
import { queries } from './client/queries.ts'
import { router } from './router.tsx'
import { applyTheme, readTheme } from './session/theme.ts'

applyTheme(readTheme())

const place = document.querySelector('#app')
if (place === null) throw new Error('the page has no place for the app')
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
)
