"""Every address of the hub."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/v1/", include("burnin.api.urls")),
    path("", include("burnin.dashboards.urls")),
]
