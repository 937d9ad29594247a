import QuickLook
