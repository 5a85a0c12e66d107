"""The door."""

from django.contrib.auth.views import LoginView

from fleet.login_throttle import ThrottledLoginForm


class Login(LoginView):
    """Ask for name and password; go on to where the visitor wanted to be."""

    authentication_form = ThrottledLoginForm
    template_name = "dashboards/login.html"
    redirect_authenticated_user = True
