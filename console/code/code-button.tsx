import { Code } from 'lucide-react';
import { Suspense, useState } from 'react';
import { Button } from '../parts/button.tsx';
import { lazyPart } from '../parts/lazy-part.ts';
import type { RequestsDialogProps } from './requests-dialog.tsx';

const RequestsDialog = lazyPart(() => import('./requests-dialog.tsx'));

type CodeButtonProps = Omit<RequestsDialogProps, 'first' | 'onClose'>;

/** Opens the requests about something as code, with a button to run each of them. */
export function CodeButton({ title, requests }: CodeButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        size="small"
        variant="ghost"
        icon={<Code aria-hidden size={14} />}
        onClick={() => setOpen(true)}
      >
        Code
      </Button>
      {isOpen ? <CodeDialog title={title} requests={requests} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

export function CodeDialog(props: RequestsDialogProps) {
  return (
    <Suspense fallback={null}>
      <RequestsDialog {...props} />
    </Suspense>
  );
}
