import './frame/theme.ts';
import './style.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { setNonce } from 'get-nonce';
import { Tooltip } from 'radix-ui';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from './client/queries.ts';
import { router } from './frame/router.tsx';
import { forgetPerson, SessionProvider } from './frame/session.tsx';
import { ToastProvider } from './parts/toast.tsx';

// Dialogs lock the page's scrolling by a style element; the content security policy lets it in by this nonce.
const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content;
if (nonce !== undefined && nonce !== '') setNonce(nonce);

const client = createQueryClient(forgetPerson);
const place = document.getElementById('console');
if (place === null) throw new Error('The page has no element with the id "console".');

createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <Tooltip.Provider delayDuration={300}>
        <ToastProvider>
          <SessionProvider>
            <RouterProvider router={router} />
          </SessionProvider>
        </ToastProvider>
      </Tooltip.Provider>
    </QueryClientProvider>
  </StrictMode>,
);
