import './frame/theme.ts';
import './style.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from './client/queries.ts';
import { router } from './frame/router.tsx';
import { clearPerson, SessionProvider } from './frame/session.tsx';
import { ToastProvider } from './parts/toast.tsx';

// Dialogs disable page scrolling with a style element; the nonce makes the content security policy accept it.
const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content;
if (nonce !== undefined && nonce !== '') setNonce(nonce);

const client = createQueryClient(clearPerson);
const container = document.getElementById('console');
if (container === null) throw new Error('The page has no element with the id "console".');

createRoot(container).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <ToastProvider>
        <SessionProvider>
          <RouterProvider router={router} />
        </SessionProvider>
      </ToastProvider>
    </QueryClientProvider>
  </StrictMode>,
);
