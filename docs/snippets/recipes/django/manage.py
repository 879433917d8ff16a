# A project in one file, to try the view: WEBHOOK_SECRET=whsec_... python3 manage.py runserver --noreload 3000
import sys

from django.conf import settings
from django.core.management import execute_from_command_line
from django.urls import path

import webhooks

settings.configure(
    ROOT_URLCONF=__name__,
    ALLOWED_HOSTS=["127.0.0.1", "localhost"],
    DATA_UPLOAD_MAX_MEMORY_SIZE=1_000_000,
)
urlpatterns = [path("webhooks", webhooks.receive)]

if __name__ == "__main__":
    execute_from_command_line(sys.argv)
