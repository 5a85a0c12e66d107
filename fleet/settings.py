"""Django settings. Configuration comes from the environment; every variable stands here."""

import os
from pathlib import Path

from fleet.environment import database, is_on, own_secret, words

BASE_DIR = Path(__file__).resolve().parent.parent

# What Fleet Manager writes outside a database: the private cluster, sites, collected artifacts.
VAR_DIR = Path(os.environ.get("FLEET_VAR_DIR", BASE_DIR / "var"))
SITES_DIR = Path(os.environ.get("FLEET_SITES_DIR", VAR_DIR / "sites"))

DEBUG = is_on("FLEET_DEBUG")
# Without the variable a secret is made once and kept in VAR_DIR: enough for one machine.
SECRET_KEY = os.environ.get("FLEET_SECRET_KEY") or own_secret(VAR_DIR / "secret_key")
# Retired secrets: what they signed (upload URLs of jobs that still run) holds.
SECRET_KEY_FALLBACKS = words("FLEET_OLD_SECRET_KEYS", "")
SECRET_KEY_IS_OWN = not os.environ.get("FLEET_SECRET_KEY")
ALLOWED_HOSTS = words("FLEET_ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
# How nodes, satellites and browsers reach the web.
PUBLIC_URL = os.environ.get("FLEET_PUBLIC_URL", "http://127.0.0.1:8000").rstrip("/")

DATABASES = {
    "default": database(
        os.environ.get("FLEET_DATABASE_URL") or f"sqlite:///{VAR_DIR / 'fleet.sqlite3'}"
    )
}
BROKER_URL = os.environ.get("FLEET_BROKER_URL", "redis://127.0.0.1:6379/0")

# Where artifacts are kept: `local:/abs/dir` or `s3://bucket`.
STORE = os.environ.get("FLEET_STORE", f"local:{VAR_DIR / 'store'}")
S3_ENDPOINT = os.environ.get("FLEET_S3_ENDPOINT", "")  # how the hub reaches it
S3_NODE_ENDPOINT = os.environ.get("FLEET_S3_NODE_ENDPOINT", "") or S3_ENDPOINT  # how nodes do
S3_REGION = os.environ.get("FLEET_S3_REGION", "us-east-1")
AWS_ACCESS_KEY_ID = os.environ.get("AWS_ACCESS_KEY_ID", "")
AWS_SECRET_ACCESS_KEY = os.environ.get("AWS_SECRET_ACCESS_KEY", "")

INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.admin",
    "django.contrib.staticfiles",
    "rest_framework",
    "fleet",
    "burnin",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]
ROOT_URLCONF = "fleet.urls"
WSGI_APPLICATION = "fleet.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LOGIN_URL = "admin:login"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("MinimumLengthValidator", "CommonPasswordValidator", "NumericPasswordValidator")
]

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True  # so that nothing has to be collected before the first start

# Behind a proxy that ends TLS; it must set X-Forwarded-Proto itself and drop a client's.
if PUBLIC_URL.startswith("https://"):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
    CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]

REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "EXCEPTION_HANDLER": "burnin.api.errors.as_one_sentence",
}

FIXTURE_DIRS = [BASE_DIR / "fixtures"]

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "loggers": {
        "burnin": {"handlers": ["stderr"], "level": os.environ.get("FLEET_LOG_LEVEL", "INFO")},
    },
}
