"""Django settings. Configuration comes from the environment; every variable stands here."""

import os
from pathlib import Path

from fleet.environment import database, is_on, own_secret, whole_number, words

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
# Before the web, each telling whom it saw: one ends TLS, unless something else is stated.
PROXIES = whole_number("FLEET_PROXIES", int(PUBLIC_URL.startswith("https://")), lowest=0)

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

# How long a result counts for its node when nothing is done to it.
EVIDENCE_DAYS = whole_number("FLEET_EVIDENCE_DAYS", 30)

INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "django.contrib.sessions",
    "django.contrib.messages",
    "unfold.apps.BasicAppConfig",
    "fleet.admin_app.FleetAdminConfig",
    "django.contrib.staticfiles",
    "simple_history",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "rest_framework",
    "fleet",
    "burnin",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "fleet.plain_addresses.plain_addresses",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "simple_history.middleware.HistoryRequestMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "fleet.content_policy.content_policy",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "libraries": {
                "dashboards": "burnin.dashboards.templatetags.dashboards",
                "runs": "burnin.dashboards.templatetags.runs",
                "catalogue": "burnin.dashboards.templatetags.catalogue",
            },
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "burnin.dashboards.bar.context",
            ],
        },
    }
]
ROOT_URLCONF = "fleet.urls"
WSGI_APPLICATION = "fleet.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LOGIN_URL = "dashboards:login"
LOGIN_REDIRECT_URL = "dashboards:home"
LOGOUT_REDIRECT_URL = "dashboards:login"
AUTHENTICATION_BACKENDS = ["fleet.login_throttle.ThrottledBackend"]
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
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "burnin.api.callers.ApiTokenAuthentication",
        "burnin.api.callers.BrowserSession",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["burnin.api.permissions.MayAct"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["burnin.api.parser.ShallowJson"],
    "DEFAULT_SCHEMA_CLASS": "burnin.api.schema.FleetSchema",
    "DEFAULT_THROTTLE_CLASSES": ["burnin.api.rate.CallerRate"],
    "DEFAULT_THROTTLE_RATES": {"caller": os.environ.get("FLEET_API_RATE", "1200/min")},
    "EXCEPTION_HANDLER": "burnin.api.errors.as_one_sentence",
    "URL_FORMAT_OVERRIDE": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Fleet Manager",
    "DESCRIPTION": "Hardware burn-in for GPU fleets that run Slurm. Every error is one sentence: "
    '{"error": "…"}. Lists come in pages: follow `next` until it is null.',
    "VERSION": "1.0.0",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_NAME_OVERRIDES": {
        "JobState": "burnin.models.job.JobState",
        "JobVerdict": "burnin.models.job.JobVerdict",
        "RunState": "burnin.selectors.runs_filters.STATES",
        "Verdict": "burnin.selectors.runs_filters.VERDICTS",
    },
}

FIXTURE_DIRS = [BASE_DIR / "fixtures"]

LANGUAGE_CODE = "en"
USE_I18N = False  # English only, and times as they are written everywhere else
DATE_FORMAT = "Y-m-d"
DATETIME_FORMAT = "Y-m-d H:i:s"
TIME_ZONE = "UTC"
USE_TZ = True

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "filters": {"redaction": {"()": "burnin.satellite.redaction.Redaction"}},
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": "line",
            "filters": ["redaction"],
        }
    },
    "loggers": {
        # Django's own default tells nobody of a failed request unless DEBUG is on.
        "django": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
        "burnin": {"handlers": ["stderr"], "level": os.environ.get("FLEET_LOG_LEVEL", "INFO")},
    },
}

UNFOLD = {
    "SITE_TITLE": "Fleet Manager",
    "SITE_HEADER": "Fleet Manager",
    "SITE_SUBHEADER": "Administration",
    "SITE_URL": "/",
    "SITE_SYMBOL": "memory",
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": f"{STATIC_URL}icon.svg"}],
    "SHOW_VIEW_ON_SITE": False,
    "BORDER_RADIUS": "6px",
    "COMMAND": {"search_models": False},
    "SIDEBAR": {"show_search": True, "navigation": "fleet.admin_site.navigation"},
    # Colour means a verdict: what is chosen is ink.
    "COLORS": {
        "primary": {
            "50": "#f6f7f9",
            "100": "#eceef1",
            "200": "#d9dce1",
            "300": "#b9bec7",
            "400": "#8a909c",
            "500": "#a3a9b5",
            "600": "#3d4452",
            "700": "#2a303b",
            "800": "#0b0d11",
            "900": "#07080b",
            "950": "#030405",
        }
    },
}
