"""Django settings. Configuration comes from the environment; every variable stands here."""

import os
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent.parent

# What Fleet Manager writes outside a database: the private cluster, sites, collected artifacts.
VAR_DIR = Path(os.environ.get("FLEET_VAR_DIR", BASE_DIR / "var"))
SITES_DIR = Path(os.environ.get("FLEET_SITES_DIR", VAR_DIR / "sites"))

DEBUG = False
SECRET_KEY = os.environ.get("FLEET_SECRET_KEY", "")
ALLOWED_HOSTS: list[str] = []

INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "fleet",
    "burnin",
]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": VAR_DIR / "fleet.sqlite3"}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
