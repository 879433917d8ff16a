import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { copyText } from '../client/clipboard.ts';
import { Button, IconButton } from './button.tsx';
import { classes } from './text.ts';

export interface CopyButtonProps {
  readonly text: string;
  /** The content, such as 'payment id', for the label 'Copy payment id'. */
  readonly what: string;
  /** With a text label instead of the icon only. */
  readonly isWide?: boolean;
  readonly className?: string;
}

const shownMs = 1600;

export function CopyButton({ text, what, isWide = false, className }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), shownMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = () => void copyText(text).then(setCopied);
  const icon = isCopied ? (
    <Check aria-hidden size={14} className="text-good" />
  ) : (
    <Copy aria-hidden size={14} />
  );
  const label = isCopied ? 'Copied' : `Copy ${what}`;
  if (isWide) {
    return (
      <Button size="small" onClick={copy} icon={icon} className={className} aria-label={label}>
        {isCopied ? 'Copied' : 'Copy'}
      </Button>
    );
  }
  return (
    <IconButton
      label={label}
      icon={icon}
      size="small"
      onClick={copy}
      className={classes('relative z-10', className)}
    />
  );
}

/** An id in monospace with a copy button; `isShort` abbreviates it. */
export function IdText({
  id,
  isShort = false,
  what = 'id',
}: {
  readonly id: string;
  readonly isShort?: boolean;
  readonly what?: string;
}) {
  const shown = isShort && id.length > 16 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id;
  return (
    <span className="inline-flex max-w-full items-center gap-0.5">
      <span className="truncate font-mono text-[0.75rem] text-muted" title={id}>
        {shown}
      </span>
      <CopyButton text={id} what={what} />
    </span>
  );
}
