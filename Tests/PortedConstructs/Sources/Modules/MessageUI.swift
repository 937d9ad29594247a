import MessageUI
